// @ts-expect-error Express 5.3.0 ships no types.
import express from 'express';
import serverless from 'serverless-http';
import { BAD_REQUEST, CONFLICT, createPlant, log, tokenName, UNAUTHORIZED } from './database.ts';

/* Follows the guides of Express 5 and serverless-http. */

const app = express();
app.use(async (request: Request, response: Response, next: () => void) => {
  response.locals['start'] = performance.now();
  response.locals['owner'] = await tokenName(request.headers['authorization']);
  if (response.locals['owner'] === undefined) response.status(400).json(UNAUTHORIZED);
  else next();
});
app.use(express.json());
app.post('/plants', async (request: Request, response: Response) => {
  const { id, name, tag } = request.body;
  const valid = Number.isInteger(id) && typeof name === 'string' && (tag === undefined || typeof tag === 'string');
  if (!valid) return response.status(400).json(BAD_REQUEST);
  const created = await createPlant({ id, name, tag });
  log(created, String(response.locals['owner']), Number(response.locals['start']));
  return created ? response.json({ name, tag }) : response.status(400).json(CONFLICT);
});

export const handler = serverless(app);

interface Request {
  headers: Record<string, string | undefined>;
  body: { id: number; name: string; tag?: string };
}

interface Response {
  locals: Record<string, unknown>;
  status(code: number): Response;
  json(body: object): Response;
}
