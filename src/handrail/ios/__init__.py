"""One iPhone or simulator as a surface, by WebDriverAgent. Experimental: not run on Apple hardware by us."""
