module pmutest

go 1.27

require pmu v0.0.0

// The reader of profiles is there.
replace pmu => ../../misc/pmu
