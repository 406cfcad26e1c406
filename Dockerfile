FROM node:24-bookworm-slim AS base
WORKDIR /catalogue
COPY package.json package-lock.json ./
COPY packages/embedded-postgres packages/embedded-postgres
COPY packages/server/package.json packages/server/

FROM base AS build
# The generator, one of the workspaces.
COPY packages/schematics packages/schematics
RUN npm ci
COPY .swcrc build.mjs transpile.mjs nest-cli.json tsconfig.json tsconfig.build.json ./
COPY packages/server packages/server
COPY src src
RUN npm run build

FROM base AS dependencies
# The embedded PostgreSQL, an optional dependency, is not needed in the image.
RUN npm ci --omit=dev --omit=optional

FROM base
ENV NODE_ENV=production
COPY --from=dependencies /catalogue/node_modules node_modules
COPY --from=build /catalogue/packages/server/dist packages/server/dist
COPY --from=build /catalogue/dist dist
RUN chmod +x dist/main.js && ln -s /catalogue/dist/main.js /usr/local/bin/catalogue
USER node
# PORT for clients, ADMIN_PORT for health and metrics.
EXPOSE 3000 9090
# Readiness, because dependents of the container wait for it. Docker does not restart an unhealthy
# container. An orchestrator that does should use /health/live. By bash, since the start of Node.js every five
# seconds takes thirty times the CPU. At HOST, if the service listens there and not on the loopback address.
# Several instances that start at once on a busy machine take more than a minute.
HEALTHCHECK --interval=5s --timeout=5s --start-period=180s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${ADMIN_PORT:-9090} || exec 3<>/dev/tcp/${HOST:-::1}/${ADMIN_PORT:-9090}; printf 'GET /health/ready HTTP/1.0\\r\\n\\r\\n' >&3; grep -q '200 OK' <&3"]
# Exec form: signals reach the service, not a shell.
ENTRYPOINT ["catalogue"]
CMD ["start"]
