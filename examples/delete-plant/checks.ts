import { randomInt } from 'node:crypto';
import { creates, PLANT, plus } from '../create-plant/checks.ts';
import { type Check, tokenChecks } from '../shared/checks.ts';

const deletion = (id: bigint | string) => ({ method: 'DELETE', path: `/plants/${id}` });
const missingId = plus(101n);
/** Random, because two smoke tests with the same token have the same ids: one would delete the plant of the other. */
const createdId = plus(-BigInt(randomInt(1000, 2 ** 47)));

/** The checks of deletePlant, in the order in which they run. */
export const deletePlantChecks: Check[] = [
  { title: 'returns error 404 for an unknown id', request: (id) => deletion(missingId(id)), expected: { error: 404 } },
  ...tokenChecks((id) => deletion(missingId(id))),
  { title: 'rejects an id with a fraction', request: () => deletion('1.5'), expected: { error: 400 } },
  { ...creates('creates a plant to delete', PLANT, createdId), smokeTestOnly: true },
  {
    title: 'deletes the plant',
    request: (id) => deletion(createdId(id)),
    expected: { body: PLANT },
    smokeTestOnly: true,
  },
  {
    title: 'returns error 404 for a deleted plant',
    request: (id) => deletion(createdId(id)),
    expected: { error: 404 },
    smokeTestOnly: true,
  },
];
