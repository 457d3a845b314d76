"""Files by which a build tool is known, and the commands that its users type."""

from msgspec import Struct


class KnownBuilder(Struct, frozen=True):
    """A tool that always has the same commands, wherever its file lies at the root."""

    file: str
    commands: dict[str, str]


KNOWN_BUILDERS = (
    KnownBuilder("Cargo.toml", {"build": "cargo build", "test": "cargo test"}),
    KnownBuilder(
        "go.mod", {"build": "go build ./...", "test": "go test ./...", "lint": "go vet ./..."}
    ),
    KnownBuilder("gradlew", {"build": "./gradlew assemble", "test": "./gradlew test"}),
    KnownBuilder("build.gradle.kts", {"build": "gradle assemble", "test": "gradle test"}),
    KnownBuilder("build.gradle", {"build": "gradle assemble", "test": "gradle test"}),
    KnownBuilder("mvnw", {"build": "./mvnw -q -DskipTests package", "test": "./mvnw -q test"}),
    KnownBuilder("pom.xml", {"build": "mvn -q -DskipTests package", "test": "mvn -q test"}),
    KnownBuilder(
        "mix.exs",
        {"build": "mix compile", "test": "mix test", "lint": "mix format --check-formatted"},
    ),
    KnownBuilder("Package.swift", {"build": "swift build", "test": "swift test"}),
    KnownBuilder(
        "CMakeLists.txt",
        {
            "build": "cmake -S . -B build && cmake --build build",
            "test": "ctest --test-dir build --output-on-failure",
        },
    ),
)
