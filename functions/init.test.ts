import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { startEngine } from '../test/support/engine.ts';
import { newKey, signed, startIssuer } from '../test/support/issuer.ts';

closedAtEnd(await startEngine());
const issuer = closedAtEnd(await startIssuer());
const key = newKey();
issuer.publish(key);

/** Loads the module with these environment variables. */
async function loadWith(variables: Record<string, string>) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.resetModules();
  await import('./create-plant/index.ts');
  return (await import('./init.ts')).tokenVerifiers.jwt;
}

test('has no verifier of JWTs without an identity provider', async () => {
  expect(await loadWith({ TOKEN_ISSUER: '' })).toBeUndefined();
});

test('has a verifier with the audiences and the scope of the variables, whose keys are fetched at init', async () => {
  const verifier = await loadWith({
    TOKEN_ISSUER: issuer.url,
    TOKEN_AUDIENCE: 'plants,gardens',
    TOKEN_SCOPE: 'write',
  });
  expect(issuer.requests).toHaveLength(2);
  const exp = Math.floor(Date.now() / 1000) + 60;
  const verify = (claims: object) => verifier?.verify(signed(key, { iss: issuer.url, sub: 'a', exp, ...claims }));
  for (const aud of ['plants', 'gardens']) expect(await verify({ aud, scope: 'write' })).toBeDefined();
  await expect(verify({ aud: 'houses', scope: 'write' })).rejects.toMatchObject({ error: 401 });
  await expect(verify({ aud: 'plants', scope: 'read' })).rejects.toMatchObject({ error: 401 });
});
