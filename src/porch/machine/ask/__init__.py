"""The implicit run of questions that are asked outside of any other run."""
