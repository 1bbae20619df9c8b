// @ts-expect-error Express 5.3.0 ships no types.
import express from 'express';
import serverless from 'serverless-http';
import { createPlant } from './sdk.ts';

/* Follows the guides of Express 5 and serverless-http. Stores the plant with the SDK's client. */

type Request = { headers: Record<string, string | undefined>; body: Record<string, unknown> | undefined };
type Response = { status(code: number): Response; json(body: object): Response };

const app = express();
app.use(express.json());
app.post('/plants', async (request: Request, response: Response) => {
  const { status, body } = await createPlant(request.headers['authorization'], request.body);
  response.status(status).json(body);
});

export const handler = serverless(app);
