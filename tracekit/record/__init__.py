"""Recording a capture: the rocprofv3 line, and what of ROCm is installed."""
