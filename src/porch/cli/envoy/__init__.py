"""The commands of `envoy`: what agents call while they follow a protocol of steps."""
