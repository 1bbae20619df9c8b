import { creates, PLANT, plus } from '../create-plant/checks.ts';
import { type Check, tokenChecks } from '../shared/checks.ts';

const get = (id: bigint | string) => ({ method: 'GET', path: `/plants/${id}` });
const missingId = plus(101n);
const createdId = plus(102n);

/** The checks of getPlant, in the order in which they run. */
export const getPlantChecks: Check[] = [
  { title: 'returns error 404 for an unknown id', request: (id) => get(missingId(id)), expected: { error: 404 } },
  ...tokenChecks((id) => get(missingId(id))),
  { title: 'rejects an id with a fraction', request: () => get('1.5'), expected: { error: 400 } },
  { ...creates('creates a plant to read', PLANT, createdId), smokeTestOnly: true },
  {
    title: 'returns the plant with an id beyond 2^53',
    request: (id) => get(createdId(id)),
    expected: { body: PLANT },
    smokeTestOnly: true,
  },
];
