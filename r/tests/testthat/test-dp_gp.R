rows <- function(count = 300) {
  set.seed(4)
  frame <- data.frame(dose = runif(count, 0, 10), sex = factor(sample(c("F", "M"), count, replace = TRUE)))
  frame$effect <- 20 + 8 * sin(frame$dose / 2) + 3 * (frame$sex == "M") + rnorm(count)
  frame
}

needs_command <- function() {
  skip_if(!nzchar(Sys.getenv("DPGP_COMMAND")) && !nzchar(Sys.which("dpgp")), "the command dpgp is not installed")
  Sys.setenv(DPGP_STATE = tempfile("state"))
}

public <- list(epsilon = 1, delta = 1e-5, bounds = c(0, 40))
fit_of <- function(formula, data, ...) do.call(dp_gp, c(list(formula, data), utils::modifyList(public, list(...))))

test_that("public inputs are predicted with intervals", {
  needs_command()
  frame <- rows()
  fit <- fit_of(effect ~ dose + sex, frame, ledger = FALSE)
  expect_match(fit$guarantee, "(1.0, 1e-5)-DP", fixed = TRUE)
  truth <- 20 + 8 * sin(frame$dose / 2) + 3 * (frame$sex == "M")
  found <- predict(fit, frame, interval = "confidence", level = 0.9)
  # In one release all errors have one cause, its noise, so errors and coverages are averaged over 20 releases.
  releases <- replicate(20, {
    released <- predict(fit_of(effect ~ dose + sex, frame, ledger = FALSE), frame, interval = "confidence", level = 0.9)
    c(error = sqrt(mean((released[, "fit"] - truth)^2)),
      coverage = mean(released[, "lwr"] <= truth & truth <= released[, "upr"]))
  })
  expect_lt(mean(releases["error", ]), 4)
  expect_gt(mean(releases["coverage", ]), 0.8)
  expect_equal(predict(fit, frame[1:3, ]), unname(found[1:3, "fit"]))
  expect_output(print(fit), "guarantee")
})

test_that("a fit predicts what the command predicts, to the last bit", {
  needs_command()
  frame <- rows()[c("dose", "effect")]
  fit <- fit_of(effect ~ dose, frame, ledger = FALSE)
  written <- read.csv(text = jsonlite::fromJSON(fit$release)$predictions)
  expect_identical(predict(fit, written["dose"]), written$private_mean)
  kept <- tempfile(fileext = ".rds")
  saveRDS(fit, kept)
  expect_identical(predict(readRDS(kept), written["dose"]), written$private_mean)
})

test_that("whole records need bounds of their inputs", {
  needs_command()
  frame <- rows(3000)[c("dose", "effect")]
  expect_error(fit_of(effect ~ dose, frame, private = "records"), "set input_bounds")
  fit <- fit_of(effect ~ dose, frame, private = "records", input_bounds = list(dose = c(0, 10)), ledger = FALSE)
  expect_match(fit$guarantee, "record")
  expect_lt(abs(predict(fit, data.frame(dose = pi)) - 28), 5)
})

test_that("the ledger counts fits and refuses", {
  needs_command()
  frame <- rows()[c("dose", "effect")]
  fit_of(effect ~ dose, frame, budget = c(1.2, 1e-5))
  expect_error(fit_of(effect ~ dose, frame[300:1, ]), "budget")
})

test_that("mistakes are named", {
  needs_command()
  frame <- rows()
  expect_error(fit_of(effect ~ dose, frame, bounds = c(40, 0)), "bounds must be")
  expect_error(fit_of(effect ~ dose, frame, epsilon = NA), "epsilon must be a finite number")
  expect_error(fit_of(effect ~ dose, frame, epsilon = -1), "epsilon")
  expect_error(fit_of(sex ~ dose, frame), "target must be a number")
  expect_error(fit_of(effect ~ 1, frame), "formula must have")
  frame$dose[2] <- NA
  expect_error(fit_of(effect ~ dose, frame), "rows.csv")
})

test_that("a fit is drawn", {
  needs_command()
  frame <- rows()
  frame$time <- runif(300)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(fit_of(effect ~ dose, frame, ledger = FALSE)))
  expect_invisible(plot(fit_of(effect ~ dose + time, frame, ledger = FALSE)))
  expect_error(plot(fit_of(effect ~ dose + sex, frame, ledger = FALSE)), "numbers")
})

test_that("words of private inputs are never read from the rows", {
  frame <- rows()
  frame$sex <- as.character(frame$sex)
  box <- list(dose = c(0, 10))
  expect_error(fit_of(effect ~ dose + sex, frame, private = "records", input_bounds = box), "make sex a factor")
  frame$sick <- frame$effect > 50
  expect_error(fit_of(effect ~ dose + sick, frame, private = "records", input_bounds = box), "make sick a factor")
  # Levels are public, also those that no row has.
  needs_command()
  frame$sex <- factor(frame$sex, levels = c("F", "M", "X"))
  fit <- fit_of(effect ~ dose + sex, frame, private = "records", input_bounds = box, ledger = FALSE)
  expect_identical(fit$words$sex, c("F", "M", "X"))
})

test_that("all rows of a person are protected", {
  needs_command()
  frame <- rows()[c("dose", "effect")]
  frame$who <- sprintf("p%d", seq_len(nrow(frame)) %% 100)
  fit <- fit_of(effect ~ dose, frame, ledger = FALSE, person = "who", rows_per_person = 2)
  expect_match(fit$guarantee, "one person (\"who\", at most 2 rows each)", fixed = TRUE)
  records <- fit_of(effect ~ dose, frame, ledger = FALSE, person = "who", rows_per_person = 2, rows = 200,
                    private = "records", input_bounds = list(dose = c(0, 10)))
  expect_match(records$guarantee, "one person (\"who\", at most 2 rows each)", fixed = TRUE)
  expect_error(fit_of(effect ~ dose, frame, person = "who"), "belong together")
  expect_error(fit_of(effect ~ dose, frame, person = "dose", rows_per_person = 2), "not in the formula")
  expect_error(fit_of(effect ~ dose, frame, person = "who", rows_per_person = 1.5), "whole number")
})

test_that("many rows are summed over nested cells", {
  needs_command()
  frame <- rows(5000)
  spec_of <- function(frame) {
    fit_of(effect ~ dose, frame, private = "records", input_bounds = list(dose = c(0, 10)), ledger = FALSE)$spec
  }
  expect_true(any(grepl("features = \"cells\"", spec_of(frame), fixed = TRUE)))
  expect_false(any(grepl("cells", spec_of(frame[1:4999, ]), fixed = TRUE)))
})
