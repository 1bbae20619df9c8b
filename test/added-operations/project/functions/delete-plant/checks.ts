import { type Check, check, error, ok } from '../pre-traffic-hook/check.ts';

export const deletePlantChecks: Check[] = [
  check('DELETE /plants/{id} for an unknown id gets error 404', (client) => [
    [{ method: 'DELETE', path: `/plants/${client.id('no plant')}` }, error(404)],
  ]),
  {
    ...check('a plant can be deleted once', (client) => {
      const id = client.id('deleted');
      const deletion = { method: 'DELETE', path: `/plants/${id}` };
      return [
        [{ body: `{"id":${id},"name":"deleted"}` }, ok({ name: 'deleted' })],
        [deletion, ok({ name: 'deleted' })],
        [deletion, error(404)],
      ];
    }),
    // Needs createPlant too.
    needsGateway: true,
  },
];
