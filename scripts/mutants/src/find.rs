//! The places of a source that can be changed: operators, values of functions, arms of matches.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::site::{Change, Kind, Site};
use crate::values;

/// The places of a source, outer before inner.
pub fn sites(source: &str) -> Result<Vec<Site>, String> {
    let file = syn::parse_file(source).map_err(|error| error.to_string())?;
    let mut finder = Finder { source, sites: Vec::new(), within: Vec::new() };
    finder.visit_file(&file);
    finder.sites.sort_by_key(|site| (site.range.start, std::cmp::Reverse(site.range.end)));
    Ok(finder.sites)
}

/// The names of a source's modules that are in files of their own, for tests alone.
pub fn test_modules(source: &str) -> Vec<String> {
    let items = syn::parse_file(source).map_or_else(|_| Vec::new(), |file| file.items);
    let modules = items.into_iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() && tests_only(&module.attrs) => {
            Some(module.ident.to_string())
        }
        _ => None,
    });
    modules.collect()
}

struct Finder<'a> {
    source: &'a str,
    sites: Vec<Site>,
    /// Types and functions around.
    within: Vec<String>,
}

impl Finder<'_> {
    fn add(&mut self, whole: Range<usize>, kind: Kind, at: proc_macro2::Span, told: Vec<(String, String)>) {
        let start = at.start();
        let changes = told.into_iter().map(|(told, text)| Change {
            id: 0,
            line: start.line,
            column: start.column + 1,
            function: self.within.join("::"),
            told,
            text,
        });
        let changes = changes.collect::<Vec<_>>();
        if !changes.is_empty() {
            self.sites.push(Site { range: whole, kind, changes });
        }
    }

    fn function(&mut self, signature: &syn::Signature, attributes: &[syn::Attribute], block: &syn::Block) {
        if signature.constness.is_some() || tests_only(attributes) {
            return;
        }
        self.within.push(signature.ident.to_string());
        let open = block.brace_token.span.open();
        let inside = open.byte_range().end..block.brace_token.span.close().byte_range().start;
        let body = self.source[inside.clone()].trim();
        let values = values::of(&signature.output).into_iter();
        // A body that is this value already, and a default that would call itself, are no changes.
        let told = values.filter(|value| body != value && !(body.is_empty() && value == "()"));
        let told =
            told.filter(|value| !(signature.ident == "default" && value.contains("Default::default()")));
        let told = told.map(|value| (format!("returns {value}"), value)).collect();
        self.add(inside.start..inside.start, Kind::Body, signature.ident.span(), told);
        visit::visit_block(self, block);
        self.within.pop();
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !tests_only(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'a syn::ItemImpl) {
        if tests_only(&block.attrs) {
            return;
        }
        let kind = block.self_ty.span().byte_range();
        self.within.push(self.source[kind].to_string());
        visit::visit_item_impl(self, block);
        self.within.pop();
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig, &item.attrs, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(&item.sig, &item.attrs, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, &item.attrs, block);
        }
    }

    // What is computed when the program is compiled cannot ask what is on.
    fn visit_item_const(&mut self, _: &'a syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'a syn::TraitItemConst) {}
    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}
    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}
    fn visit_type(&mut self, _: &'a syn::Type) {}
    fn visit_pat(&mut self, _: &'a syn::Pat) {}
    fn visit_generic_argument(&mut self, _: &'a syn::GenericArgument) {}
    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let (left, right) = (binary.left.span().byte_range(), binary.right.span().byte_range());
        let was = self.source[binary.op.span().byte_range()].to_string();
        if !(has_let(&binary.left) || has_let(&binary.right)) {
            let told = others(&was)
                .iter()
                .map(|other| (format!("{was} becomes {other}"), (*other).to_string()))
                .collect();
            self.add(left.start..right.end, Kind::Binary { left, right }, binary.op.span(), told);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Not(_) | syn::UnOp::Neg(_)) {
            let was = &self.source[unary.op.span().byte_range()];
            let told = vec![(format!("{was} is left out"), String::new())];
            let whole = unary.span().byte_range();
            self.add(whole, Kind::Unary { operand: unary.expr.span().byte_range() }, unary.op.span(), told);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, matched: &'a syn::ExprMatch) {
        let rest = matched.arms.iter().any(|arm| arm.guard.is_none() && matches!(arm.pat, syn::Pat::Wild(_)));
        for arm in &matched.arms {
            let pattern = arm.pat.span();
            let end = pattern.byte_range().end;
            match &arm.guard {
                Some((_, guard)) if !has_let(guard) => {
                    let told =
                        ["true", "false"].map(|value| (format!("guard becomes {value}"), value.to_string()));
                    self.add(guard.span().byte_range(), Kind::Guard, guard.span(), told.to_vec());
                }
                None if rest && !matches!(arm.pat, syn::Pat::Wild(_)) => {
                    self.add(end..end, Kind::Arm, pattern, vec![("arm is left out".into(), String::new())]);
                }
                _ => {}
            }
        }
        visit::visit_expr_match(self, matched);
    }
}

fn tests_only(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let words = match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
            _ => String::new(),
        };
        attribute.path().is_ident("test")
            || words.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
    })
}

/// Whether a condition binds names: it can stand nowhere else.
fn has_let(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn others(operator: &str) -> &'static [&'static str] {
    match operator {
        "+" => &["-", "*"],
        "-" => &["+", "/"],
        "*" => &["+", "/"],
        "/" => &["*", "%"],
        "%" => &["/", "+"],
        "+=" => &["-=", "*="],
        "-=" => &["+=", "/="],
        "*=" => &["+=", "/="],
        "/=" => &["*=", "%="],
        "%=" => &["/=", "+="],
        "==" => &["!="],
        "!=" => &["=="],
        "<" => &["==", ">", "<="],
        ">" => &["==", "<", ">="],
        "<=" => &[">"],
        ">=" => &["<"],
        "&&" => &["||"],
        "||" => &["&&"],
        "&" => &["|", "^"],
        "|" => &["&", "^"],
        "^" => &["|", "&"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        "<<=" => &[">>="],
        ">>=" => &["<<="],
        "&=" => &["|="],
        "|=" => &["&="],
        "^=" => &["|="],
        _ => &[],
    }
}
