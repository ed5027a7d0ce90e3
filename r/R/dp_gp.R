dp_gp <- function(formula, data, epsilon, delta, bounds, private = c("targets", "records"), input_bounds = NULL,
                  lengthscale = NULL, noise_sd = NULL, ledger = TRUE, budget = NULL, person = NULL, rows_per_person = NULL,
                  rows = NULL) {
  private <- match.arg(private)
  frame <- model.frame(formula, data, na.action = NULL)
  target <- names(frame)[1]
  inputs <- names(frame)[-1]
  if (attr(terms(frame), "response") != 1 || length(inputs) == 0) {
    stop("formula must have a target and inputs, as in y ~ a + b", call. = FALSE)
  }
  if (!is.numeric(frame[[1]])) stop("the target must be a number", call. = FALSE)
  words <- public_words(frame[-1], private)
  bounds <- checked_bounds(bounds, "bounds")
  box <- input_box(frame[-1], input_bounds, private, words)

  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  persons <- person_setting(person, rows_per_person, data, names(frame))
  write_rows(if (is.null(person)) frame else cbind(frame, data[person]), file.path(folder, "rows.csv"))
  n_rows <- if (is.null(rows)) nrow(data) else rows
  # Noise grows with the most rows of one person, so that as many rows count as one.
  n_rows <- if (is.null(rows_per_person)) n_rows else n_rows / rows_per_person
  spec <- spec_text(target, inputs, words, bounds, box, epsilon, delta, private, lengthscale, noise_sd, persons, rows, n_rows)
  writeLines(spec, file.path(folder, "spec.toml"))
  counted <- ledger_arguments(ledger, budget)
  if (private == "targets") {
    at <- frame[unique(round(seq(1, nrow(frame), length.out = min(nrow(frame), 400)))), inputs, drop = FALSE]
    write_rows(at, file.path(folder, "at.csv"))
    run_command(folder, c("predict", "spec.toml", "--at", "at.csv", "--out", "p.csv", "--release", "release.json", "--quiet", counted))
  } else {
    run_command(folder, c("sum", "spec.toml", "rows.csv", "--release", "release.json", "--quiet", counted))
  }
  release <- paste(readLines(file.path(folder, "release.json"), warn = FALSE), collapse = "\n")
  stated <- fromJSON(release, simplifyVector = FALSE)
  certificate <- if (private == "targets") stated$certificate else stated$guarantee
  text <- if (private == "targets") certificate$guarantee else certificate$text
  structure(
    list(
      release = release, guarantee = text, epsilon = certificate$epsilon, delta = certificate$delta, certificate = certificate,
      formula = formula, terms = terms(frame), target = target, inputs = inputs, words = words, box = box, spec = spec,
      private = private
    ),
    class = "dp_gp"
  )
}

# The words of inputs that are not numbers. Those that occur among private inputs are private, so they must be levels of a factor.
public_words <- function(columns, private) {
  columns <- Filter(function(x) !is.numeric(x), columns)
  unknown <- names(Filter(function(x) !is.factor(x), columns))
  if (private == "records" && length(unknown) > 0) {
    stop(
      "make ", unknown[1], " a factor whose levels come from public knowledge: words are never read from private inputs",
      call. = FALSE
    )
  }
  lapply(columns, function(x) levels(as.factor(x)))
}

# The lines of a spec that protect all rows of a person.
person_setting <- function(person, rows_per_person, data, taken) {
  if (is.null(person) != is.null(rows_per_person)) {
    stop("person and rows_per_person belong together", call. = FALSE)
  }
  if (is.null(person)) return(NULL)
  if (!is.character(person) || length(person) != 1 || !person %in% names(data) || person %in% taken) {
    stop("person must name a column of data that is not in the formula", call. = FALSE)
  }
  c(paste("person =", toml_text(person)), paste("rows_per_person =", whole_number(rows_per_person, "rows_per_person")))
}

whole_number <- function(x, name) {
  if (!is.numeric(x) || length(x) != 1 || !is.finite(x) || x < 1 || x != round(x)) {
    stop(name, " must be a whole number of at least 1", call. = FALSE)
  }
  sprintf("%.0f", x)
}

checked_bounds <- function(bounds, name) {
  if (!is.numeric(bounds) || length(bounds) != 2 || !all(is.finite(bounds)) || bounds[1] >= bounds[2]) {
    stop(name, " must be c(low, high) with low < high, from public knowledge", call. = FALSE)
  }
  as.numeric(bounds)
}

# The range of each input: public bounds, the codes of words, or the range of public inputs.
input_box <- function(columns, input_bounds, private, words) {
  if (private == "records" && is.null(input_bounds)) {
    stop("set input_bounds from public knowledge: bounds are never read from private inputs", call. = FALSE)
  }
  if (is.numeric(input_bounds) && length(columns) == 1) input_bounds <- stats::setNames(list(input_bounds), names(columns))
  box <- lapply(names(columns), function(name) {
    if (!is.null(words[[name]])) return(c(0, length(words[[name]]) - 1))
    if (!is.null(input_bounds)) return(checked_bounds(input_bounds[[name]], paste0("input_bounds$", name)))
    range(columns[[name]], na.rm = TRUE)
  })
  stats::setNames(box, names(columns))
}

spec_text <- function(target, inputs, words, bounds, box, epsilon, delta, private, lengthscale, noise_sd, persons, rows, n_rows) {
  width <- bounds[2] - bounds[1]
  sides <- vapply(box, diff, 0)
  sides[sides <= 0] <- 1
  hides_targets <- private == "targets"
  scales <- if (is.null(lengthscale)) sides * (if (hides_targets) 0.5 else 0.25) else rep_len(lengthscale, length(inputs))
  scales <- toml_list(vapply(scales, toml_number, "", name = "lengthscale"))
  variance <- if (hides_targets) 0.5 else 1
  # For many rows, sums over nested cells, as the command's own templates choose.
  cells <- !hides_targets && length(inputs) <= 2 && n_rows >= 5000
  kernel <- if (cells) {
    sprintf("kernel.matern = { smoothness = \"3/2\", variance = %s, lengthscales = %s }", toml_number(variance, ""), scales)
  } else if (length(inputs) <= 4) {
    sprintf("kernel.eq-ard = { variance = %s, lengthscales = %s }", toml_number(variance, ""), scales)
  } else {
    share <- toml_list(rep(toml_number(variance / length(inputs), ""), length(inputs)))
    sprintf("kernel.additive = { lengthscales = %s, variances = %s }", scales, share)
  }
  noise <- if (is.null(noise_sd)) 0.1 else (2 * as.numeric(toml_number(noise_sd, "noise_sd")) / width)^2
  number <- function(x) toml_number(x, "bounds")
  encode <- vapply(names(words), function(name) {
    paste(toml_text(name), "=", toml_list(toml_text(words[[name]])))
  }, "")
  domain <- toml_list(vapply(box, function(side) toml_list(vapply(side, number, "")), ""))
  c(
    "experiment.title = \"a fit in R\"", "", "[data]", "source.csv.path = \"rows.csv\"",
    paste("inputs =", toml_list(toml_text(inputs))), paste("target =", toml_text(target)),
    if (length(encode)) paste0("encode = { ", paste(encode, collapse = ", "), " }"), persons,
    "", "[normalise.bounds]", paste("low =", number(bounds[1])), paste("high =", number(bounds[2])),
    paste("scale =", number(width / 2)), "", "[model]", if (hides_targets) "averaged = true",
    paste("noise_variance =", toml_number(noise, "noise_sd")), kernel, "",
    if (hides_targets) c("[task.regression]", "split.shuffled = 2", "draws = 2", "") else c("[task.surface]", ""),
    "[privacy]", paste("epsilon =", toml_number(epsilon, "epsilon")), paste("delta =", toml_number(delta, "delta")),
    "calibration = \"analytic\"",
    if (hides_targets) {
      c(paste("change =", number(width)), "mechanism.cloaking.objective = \"risk\"")
    } else {
      count <- if (!is.null(rows)) paste(", rows =", whole_number(rows, "rows"))
      features <- if (cells) ", features = \"cells\""
      paste0("mechanism.moments = { target_bound = 1.0, domain = ", domain, count, features, " }")
    }
  )
}

ledger_arguments <- function(ledger, budget) {
  if (isFALSE(ledger)) return("--no-ledger")
  arguments <- if (is.character(ledger)) c("--ledger", normalizePath(ledger, mustWork = FALSE))
  if (!is.null(budget)) {
    budget <- vapply(budget, toml_number, "", name = "budget")
    arguments <- c(arguments, "--budget-epsilon", budget[[1]], "--budget-delta", budget[[2]])
  }
  arguments
}

predict.dp_gp <- function(object, newdata, interval = c("none", "confidence"), level = 0.95, se.fit = FALSE, ...) {
  interval <- match.arg(interval)
  frame <- model.frame(delete.response(object$terms), newdata, na.action = NULL)
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE))
  writeLines(object$release, file.path(folder, "release.json"))
  write_rows(frame, file.path(folder, "at.csv"))
  run_command(folder, c("predict", "--from", "release.json", "--at", "at.csv", "--out", "p.csv"))
  found <- read.csv(file.path(folder, "p.csv"), check.names = FALSE)
  fit <- found$private_mean
  se <- sqrt(found$gp_sd^2 + found$noise_sd^2)
  if (interval == "confidence") {
    half <- qnorm(0.5 + level / 2) * se
    fit <- cbind(fit = fit, lwr = fit - half, upr = fit + half)
  }
  if (se.fit) list(fit = fit, se.fit = se) else fit
}

print.dp_gp <- function(x, ...) {
  cat("Private Gaussian process regression of", x$target, "on", paste(x$inputs, collapse = ", "), "\n")
  cat("guarantee:", x$guarantee, "\n")
  invisible(x)
}

plot.dp_gp <- function(x, level = 0.95, ...) {
  sides <- lapply(x$box, function(side) seq(side[1], side[2], length.out = if (length(x$box) == 1) 201 else 60))
  if (length(x$words) > 0) stop("plot can only draw inputs that are numbers", call. = FALSE)
  for (name in names(sides)[-(1:2)]) sides[[name]] <- mean(x$box[[name]])
  grid <- expand.grid(sides)
  if (length(sides) == 1) {
    found <- predict(x, grid, interval = "confidence", level = level)
    line <- sides[[1]]
    graphics::plot(line, found[, "fit"], type = "n", ylim = range(found), xlab = x$inputs, ylab = x$target, ...)
    polygon(c(line, rev(line)), c(found[, "lwr"], rev(found[, "upr"])), col = "grey85", border = NA)
    lines(line, found[, "fit"])
    legend("topleft", bty = "n", legend = c("mean", sprintf("%g %% of the function", 100 * level)), lty = c(1, NA), fill = c(NA, "grey85"), border = NA)
    return(invisible(x))
  }
  mean <- matrix(predict(x, grid), length(sides[[1]]))
  image(sides[[1]], sides[[2]], mean, xlab = x$inputs[1], ylab = x$inputs[2], main = x$target, ...)
  invisible(x)
}
