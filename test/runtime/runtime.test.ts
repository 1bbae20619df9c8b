import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Operation } from '../../infra/contract.ts';
import { localVariables } from '../../tools/local/environment.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { contractBody } from '../support/contract-body.ts';
import { startFailureProxy } from '../support/dynamodb-proxy.ts';
import { startEngine } from '../support/engine.ts';
import { eventWith } from '../support/event.ts';
import { startFakeService } from '../support/fake-service.ts';
import { newKey, signed, startIssuer } from '../support/issuer.ts';
import { bodyOf, plantWith } from '../support/plant.ts';
import { copyProject } from '../support/project-copy.ts';
import { bundlesWith } from '../support/stack.ts';
import { type Runtime, startRuntime } from './runtime-api.ts';

/* The built bundles of createPlant and its pre-traffic hook under AWS's runtime client for Node.js. */

const createPlant: Operation = {
  operationId: 'createPlant',
  method: 'POST',
  path: '/plants',
  folder: 'create-plant',
};

const engine = closedAtEnd(await startEngine());
const proxy = closedAtEnd(await startFailureProxy(engine.endpoint));
const runtime = closedAtEnd(await startBundle());

/** Bundles createPlant with this context, and starts it with these additional environment variables. */
function startBundle(context: Record<string, string> = {}, variables: Record<string, string> = {}): Promise<Runtime> {
  const folder = bundlesWith(context).ofFunction(createPlant);
  return startRuntime(folder, { ...localVariables(proxy.endpoint), ...variables });
}

async function respond(event: object, to = runtime) {
  return contractBody(JSON.parse(await to.invoke(event)));
}

const creationOf = (id: number) => eventWith({ body: bodyOf(id) });

test('responds to events one after the other, and logs one JSON line for each, with the stack of an internal error', async () => {
  const lines = () => runtime.log().match(/.*outcome.*/g) ?? [];
  expect(await respond(creationOf(102))).toEqual(plantWith());
  const call = `PutItem ${engine.plantsTable}`;
  proxy.plan({ call, failure: 'responds with 500', times: 3, applied: false });
  await respond(creationOf(103));
  await expect.poll(() => lines().length).toBe(2);
  const common = { timestamp: expect.any(String), requestId: expect.any(String) };
  const inner = { name: 'InternalServerError', stack: expect.stringContaining('index.mjs') };
  expect(lines().map((line) => JSON.parse(line))).toMatchObject([
    { ...common, level: 'INFO', message: { outcome: 'succeeded', version: '$LATEST', tokenName: 'development' } },
    { ...common, level: 'ERROR', message: { outcome: 'failed', error: 503, cause: { cause: inner } } },
  ]);
});

test('the pre-traffic hook invokes the version, and passes a correct one', async () => {
  const reports: object[] = [];
  const aws = await startFakeService(async ({ path, headers, body }) => {
    const ok = (text: string) => ({ status: 200, headers: {}, body: text });
    // "Invoke", Lambda API Reference.
    if (path.endsWith('/invocations')) return ok(await runtime.invoke(JSON.parse(body)));
    // "GetDeployment" and "PutLifecycleEventHookExecutionStatus", CodeDeploy API Reference.
    if (headers['x-amz-target'] === 'CodeDeploy_20141006.GetDeployment')
      return ok('{"deploymentInfo":{"creator":"user"}}');
    reports.push(JSON.parse(body));
    return ok('{"lifecycleEventHookExecutionId":"the-execution-id"}');
  });
  const hook = await startRuntime(bundlesWith({}).ofHook(createPlant), {
    ...localVariables(engine.endpoint),
    AWS_ENDPOINT_URL_CODEDEPLOY: aws,
    AWS_ENDPOINT_URL_LAMBDA: aws,
    NEW_VERSION_ARN: 'arn:aws:lambda:us-east-1:000000000000:function:plants:7',
    METHOD: createPlant.method,
    RESOURCE: createPlant.path,
  });
  onTestFinished(hook.close);
  await hook.invoke({ DeploymentId: 'd-ABCDEF123', LifecycleEventHookExecutionId: 'the-execution-id' }, 60_000);
  expect(reports, hook.log()).toMatchObject([{ deploymentId: 'd-ABCDEF123', status: 'Succeeded' }]);
});

test('accepts tokens of an identity provider in the bundle and at the local run; returns 503 if its certificate is not trusted', async () => {
  const issuer = await startIssuer();
  const key = newKey();
  issuer.publish(key);
  const claims = { iss: issuer.url, aud: 'plants', scope: 'plants/write', sub: 'a-partner', exp: 2 ** 33 };
  const token = signed(key, claims, { typ: 'at+jwt' });
  const project = copyProject();
  onTestFinished(async () => {
    project.close();
    await issuer.close();
  });
  const certificate = join(project.directory, 'issuer.pem');
  writeFileSync(certificate, issuer.certificate);
  const trusting = { NODE_EXTRA_CA_CERTS: certificate };
  const context = { tokenIssuer: issuer.url, tokenAudience: 'plants', tokenScope: 'plants/write' };
  const variables = { TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants', TOKEN_SCOPE: 'plants/write' };
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

  const trustingRuntime = await startBundle(context, { ...variables, ...trusting });
  await trustingRuntime.ready();
  expect(issuer.requests).toHaveLength(2);
  for (const _ of [1, 2]) expect(await respond(eventWith({ headers }), trustingRuntime)).toHaveProperty('name');
  // The keys are fetched only once, at init.
  expect(issuer.requests).toHaveLength(2);
  expect(trustingRuntime.log()).toMatch(/"tokenName":"127\.0\.0\.1:\d+\/[0-9a-f]{12}"/);
  await trustingRuntime.close();

  // This process does not trust the issuer's certificate.
  const untrusting = await startBundle(context, variables);
  expect(await respond(eventWith({ headers }), untrusting)).toMatchObject({ error: 503 });
  expect(untrusting.log()).toContain('self-signed certificate');
  await untrusting.close();

  const { url } = await project.start('npm start', { ...variables, ...trusting });
  const smokeVariables = { PLANT_STORE_URL: new URL(url).origin, PLANT_STORE_TOKEN: token };
  expect(await project.run('npm run --silent smoke', smokeVariables)).toMatchObject({ code: 0 });
});
