module pmutest

go 1.27
