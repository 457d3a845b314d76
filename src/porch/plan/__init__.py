"""The plans of `envoy`: prompts, findings, gates and reviews of one feature branch."""
