"""`make mutants`: small faults are put into the modules that keep people safe, and their tests must notice.

`table` says which files are meant and which tests guard them. `changes` finds every fault that a file could
have, and `skipped` says what is not worth one. `covering` tells which test runs which line. `warm` plants one
fault after the other in copies of a process that has everything imported; `fresh` plants those that matter
while importing. `trials` runs them all, and does not believe a test that fails without a fault. `children`
starts the copies and ends those that hang. `examine` does all this for one module.
"""
