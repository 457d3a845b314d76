#!/bin/sh
# Tells Claude Code before each prompt which decisions of porch wait for a person.
# It must never hold a prompt back: without porch it says nothing, and it always ends with 0.
cd "${CLAUDE_PROJECT_DIR:-.}" 2>/dev/null || exit 0
command -v porch >/dev/null 2>&1 || exit 0
porch pending --hook 2>/dev/null
exit 0
