module pmu

go 1.21
