"""Running jobs: on forked workers here, on any mrjob runner elsewhere."""
