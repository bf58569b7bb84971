# The server alone, without PostgreSQL: give it a DATABASE_URL. See docker-compose.yml.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.release=${VERSION}" -o /out/patchbay ./cmd/server && mkdir /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/LICENSE /src/THIRD_PARTY_NOTICES.md /licenses/
COPY --from=build /out/patchbay /patchbay
# The journal of calls: it outlives a killed process.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV PATCHBAY_ADDR=0.0.0.0:8080 PATCHBAY_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
# SIGTERM, which Docker sends, ends it cleanly; running requests have 20 seconds.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/patchbay"]
CMD ["serve"]
