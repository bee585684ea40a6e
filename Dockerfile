# Handrail with simulated phones and Chromium, for a user without rights. Not built with a container runtime by us yet.
#   docker build -t handrail .
#   docker run --rm handrail demo
#   docker run --rm -v "$PWD:/work" handrail run flows --sim --report report
#   docker run --rm -i handrail mcp --sim
FROM python:3.12-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium \
 && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN pip install --no-cache-dir /source /source/packages/sim /source/packages/maestro \
 && rm -rf /source \
 && useradd --create-home handrail \
 && install -d -o handrail /work
USER handrail
WORKDIR /work
ENTRYPOINT ["handrail"]
CMD ["--help"]
