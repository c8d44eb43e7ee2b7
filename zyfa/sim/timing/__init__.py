"""When instructions issue: costs, queues and the compute unit."""
