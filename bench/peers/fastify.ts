import awsLambdaFastify from '@fastify/aws-lambda';
import fastify from 'fastify';
import { CONFLICT, createPlant, log, type NewPlant, tokenName, UNAUTHORIZED } from './database.ts';

/* As in the guides of Fastify and of @fastify/aws-lambda: hooks, and a JSON schema for the body. */

const app = fastify();
app.decorateRequest('owner', '');
app.addHook('onRequest', async (request, reply) => {
  const owner = await tokenName(request.headers.authorization);
  if (owner === undefined) return reply.code(400).send(UNAUTHORIZED);
  request.setDecorator('owner', owner);
});
app.post<{ Body: NewPlant }>(
  '/plants',
  {
    schema: {
      body: {
        type: 'object',
        required: ['id', 'name'],
        properties: { id: { type: 'integer' }, name: { type: 'string' }, tag: { type: 'string' } },
      },
    },
  },
  async (request, reply) => {
    const start = performance.now();
    const created = await createPlant(request.body);
    log(created, request.getDecorator<string>('owner'), start);
    return created ? { name: request.body.name, tag: request.body.tag } : reply.code(400).send(CONFLICT);
  },
);

export const handler = awsLambdaFastify(app);
await app.ready();
