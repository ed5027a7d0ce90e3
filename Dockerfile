# The command in an image of its own: `docker build -t dpgp . && docker run --rm -v "$PWD:/work" dpgp list`.
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --profile dist --locked

FROM debian:bookworm-slim
RUN useradd --create-home --uid 1000 dpgp
COPY --from=build /source/target/dist/dpgp /usr/local/bin/dpgp
COPY --from=build /source/LICENSE-MIT /source/LICENSE-APACHE /usr/share/doc/dpgp/
USER 1000
WORKDIR /work
# What is mounted was chosen by whoever starts the container, whatever number its owner has there.
ENV DPGP_SAFE_PROJECTS=*
ENTRYPOINT ["dpgp"]
CMD ["list"]
