//! What a function of a type could return instead.

use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// Values, as expressions; none for a type of which no value is known to exist.
pub fn of(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".into()],
        ReturnType::Type(_, kind) => of_type(kind),
    }
}

fn of_type(kind: &Type) -> Vec<String> {
    match kind {
        Type::Path(path) => path.path.segments.last().map_or_else(Vec::new, of_path),
        Type::Reference(reference) => of_reference(&reference.elem),
        Type::Tuple(tuple) if tuple.elems.is_empty() => vec!["()".into()],
        Type::Tuple(tuple) => of_tuple(&tuple.elems.iter().map(of_type).collect::<Vec<_>>()),
        Type::Array(array) => {
            of_type(&array.elem).iter().map(|value| format!("std::array::from_fn(|_| {value})")).collect()
        }
        Type::Paren(inner) => of_type(&inner.elem),
        _ => Vec::new(),
    }
}

fn of_path(segment: &syn::PathSegment) -> Vec<String> {
    let inner = first_argument(&segment.arguments);
    match segment.ident.to_string().as_str() {
        "bool" => vec!["true".into(), "false".into()],
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => vec!["0".into(), "1".into()],
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => vec!["0".into(), "1".into(), "-1".into()],
        "f32" | "f64" => vec!["0.0".into(), "1.0".into(), "-1.0".into()],
        "String" => vec!["String::new()".into(), "\"xyzzy\".into()".into()],
        "Result" => inner
            .map_or(vec!["Default::default()".into()], of_type)
            .iter()
            .map(|v| format!("Ok({v})"))
            .collect(),
        "Option" => {
            let some = inner.map_or_else(Vec::new, of_type).into_iter().map(|value| format!("Some({value})"));
            some.chain(["None".into()]).collect()
        }
        "Vec" => {
            let one = inner.map_or_else(Vec::new, of_type).into_iter().map(|value| format!("vec![{value}]"));
            one.chain(["vec![]".into()]).collect()
        }
        "Box" => {
            inner.map_or_else(Vec::new, of_type).iter().map(|value| format!("Box::new({value})")).collect()
        }
        "Self" | _ => vec!["Default::default()".into()],
    }
}

fn of_reference(inner: &Type) -> Vec<String> {
    match inner {
        Type::Path(path) if path.path.is_ident("str") => vec!["\"\"".into(), "\"xyzzy\"".into()],
        Type::Slice(slice) => {
            let one = of_type(&slice.elem).into_iter().map(|value| format!("Vec::leak(vec![{value}])"));
            one.chain(["Vec::leak(Vec::new())".into()]).collect()
        }
        _ => of_type(inner).iter().map(|value| format!("Box::leak(Box::new({value}))")).collect(),
    }
}

/// Each value of a part beside the first values of the others.
fn of_tuple(parts: &[Vec<String>]) -> Vec<String> {
    let Some(first) = parts.iter().map(|values| values.first().cloned()).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let mut all = vec![first.clone()];
    for (i, values) in parts.iter().enumerate() {
        for value in &values[1..] {
            let mut other = first.clone();
            other[i] = value.clone();
            all.push(other);
        }
    }
    all.iter().map(|values| format!("({},)", values.join(", "))).collect()
}

fn first_argument(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(brackets) = arguments else { return None };
    brackets.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    })
}
