import { Router } from '@aws-lambda-powertools/event-handler/http';
import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { BAD_REQUEST, CONFLICT, createPlant, log, tokenName, UNAUTHORIZED } from './database.ts';

/* As in the guide of Powertools' REST event handler, with Valibot. */

const NewPlant = v.object({ id: v.pipe(v.number(), v.integer()), name: v.string(), tag: v.optional(v.string()) });

const json = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

const app = new Router();
app.post('/plants', async ({ req }) => {
  const start = performance.now();
  const owner = await tokenName(req.headers.get('authorization') ?? undefined);
  if (owner === undefined) return json(400, UNAUTHORIZED);
  const { success, output } = v.safeParse(NewPlant, await req.json());
  if (!success) return json(400, BAD_REQUEST);
  const created = await createPlant(output);
  log(created, owner, start);
  return created ? json(200, { name: output.name, tag: output.tag }) : json(400, CONFLICT);
});

export const handler = async (event: unknown, context: Context) => app.resolve(event, context);
