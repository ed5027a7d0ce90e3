library(testthat)
library(dpgp)

test_check("dpgp")
