FROM node:24-bookworm-slim AS base
WORKDIR /catalogue
COPY package.json package-lock.json ./

FROM base AS build
# The lock file links to the generator, which is a package of its own.
COPY schematics schematics
RUN npm ci
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY src src
RUN npx nest build

FROM base AS dependencies
# The embedded PostgreSQL is optional, and has no place beside a real one.
RUN npm ci --omit=dev --omit=optional

FROM base
ENV NODE_ENV=production
COPY --from=dependencies /catalogue/node_modules node_modules
COPY --from=build /catalogue/dist dist
RUN chmod +x dist/main.js && ln -s /catalogue/dist/main.js /usr/local/bin/catalogue
USER node
# Of the clients, and of health and metrics.
EXPOSE 3000 9090
# Ready and not live: whoever waits for the container waits for what it does. Docker restarts nothing
# for it; an orchestrator that does is better given /health/live.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 9090}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# In exec form, so that signals reach the service and not a shell.
ENTRYPOINT ["catalogue"]
CMD ["start"]
