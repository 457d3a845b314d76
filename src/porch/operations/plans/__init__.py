"""What `envoy plan` does: prompts, findings, gates and reviews of one feature branch."""
