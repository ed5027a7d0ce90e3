# The command `dpgp`, and the files that it reads.

# The path of the command: from the option dpgp.command, the variable DPGP_COMMAND, or the PATH.
find_command <- function() {
  path <- getOption("dpgp.command", Sys.getenv("DPGP_COMMAND"))
  if (!nzchar(path)) path <- unname(Sys.which("dpgp"))
  if (!nzchar(path)) {
    stop("the command dpgp is not on the path; give its path with options(dpgp.command = ...)", call. = FALSE)
  }
  normalizePath(path)
}

# Runs the command in a folder. Its message is the error where it fails.
run_command <- function(folder, arguments) {
  said <- file.path(folder, "said.txt")
  command <- find_command()
  home <- setwd(folder)
  on.exit(setwd(home))
  code <- system2(command, shQuote(arguments), stdout = FALSE, stderr = said)
  if (code != 0) {
    lines <- readLines(said, warn = FALSE)
    stop(sub("^error: ", "", paste(lines[nzchar(lines)], collapse = "\n")), call. = FALSE)
  }
  invisible()
}

# Makes a new folder that only its owner can read: it holds private rows for a moment.
private_folder <- function() {
  folder <- tempfile("dpgp")
  dir.create(folder, mode = "0700")
  folder
}

# Writes columns as CSV. Numbers keep all their digits, and missing cells are empty.
write_rows <- function(columns, path) {
  cells <- lapply(columns, function(x) {
    ifelse(is.na(x), "", if (is.numeric(x)) sprintf("%.17g", x) else quoted(as.character(x)))
  })
  lines <- do.call(paste, c(unname(cells), sep = ","))
  writeLines(enc2utf8(c(paste(quoted(names(columns)), collapse = ","), lines)), path, useBytes = TRUE)
}

quoted <- function(text) paste0("\"", gsub("\"", "\"\"", text), "\"")

# Text as a string of TOML.
toml_text <- function(text) {
  text <- gsub("\\", "\\\\", text, fixed = TRUE)
  paste0("\"", gsub("\"", "\\\"", text, fixed = TRUE), "\"")
}

toml_list <- function(items) paste0("[", paste(items, collapse = ", "), "]")

# A number as TOML writes it. Its name is for the message.
toml_number <- function(x, name) {
  if (!is.numeric(x) || length(x) != 1 || !is.finite(x)) {
    stop(name, " must be a finite number, chosen from public knowledge", call. = FALSE)
  }
  text <- sprintf("%.17g", x)
  if (grepl("[.e]", text)) text else paste0(text, ".0")
}
