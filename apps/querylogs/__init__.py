"""Search logs and traces: masked, counted, sampled, and read by a person before a query enters."""
