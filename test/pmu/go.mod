module pmu/test

go 1.21

require pmu v0.0.0

replace pmu => ../../misc/pmu
