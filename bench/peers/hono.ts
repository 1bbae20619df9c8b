import { type Context, Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { bearerAuth } from 'hono/bearer-auth';
import { validator } from 'hono/validator';
import * as v from 'valibot';
import { BAD_REQUEST, CONFLICT, createPlant, log, tokenName, UNAUTHORIZED } from './database.ts';

/* Follows Hono's guides for AWS Lambda, bearer auth and validation, with Valibot. */

const NewPlant = v.object({ id: v.pipe(v.number(), v.integer()), name: v.string(), tag: v.optional(v.string()) });

interface Environment {
  Variables: { owner: string | undefined; start: number };
}

const app = new Hono<Environment>();
app.use(async (context, next) => {
  context.set('start', performance.now());
  await next();
});
app.use(
  bearerAuth({
    verifyToken: async (token, context: Context<Environment>) => {
      const owner = await tokenName(`Bearer ${token}`);
      context.set('owner', owner);
      return owner !== undefined;
    },
    noAuthenticationHeader: { message: UNAUTHORIZED },
  }),
);
app.post(
  '/plants',
  validator('json', (value, context) => {
    const { success, output } = v.safeParse(NewPlant, value);
    return success ? output : context.json(BAD_REQUEST, 400);
  }),
  async (context) => {
    const plant = context.req.valid('json');
    const created = await createPlant(plant);
    log(created, context.get('owner'), context.get('start'));
    return created ? context.json({ name: plant.name, tag: plant.tag }) : context.json(CONFLICT, 400);
  },
);

export const handler = handle(app);
