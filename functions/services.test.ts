import { expect, test } from 'vitest';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { startEngine } from '../test/support/engine.ts';
import { newKey, signed, startIssuer } from '../test/support/issuer.ts';

await startEngine();
const issuer = closedAtEnd(await startIssuer());
const key = newKey();
issuer.publish(key);

test('verifies JWTs with the audiences and the scope of the variables, and fetches the keys at init', async () => {
  Object.assign(process.env, { TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants,gardens', TOKEN_SCOPE: 'write' });
  await import('./index.ts');
  const { tokenVerifiers } = await import('./services.ts');
  expect(issuer.requests).toHaveLength(2);
  const exp = Math.floor(Date.now() / 1000) + 60;
  const verify = (claims: object) =>
    tokenVerifiers.jwt?.verify(signed(key, { iss: issuer.url, sub: 'a', exp, ...claims }));
  for (const aud of ['plants', 'gardens']) expect(await verify({ aud, scope: 'write' })).toBeDefined();
  await expect(verify({ aud: 'houses', scope: 'write' })).rejects.toMatchObject({ error: 401 });
  await expect(verify({ aud: 'plants', scope: 'read' })).rejects.toMatchObject({ error: 401 });
});
