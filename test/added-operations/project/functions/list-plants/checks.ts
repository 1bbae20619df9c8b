import { type Check, errorCheck } from '../pre-traffic-hook/check.ts';

export const listPlantsChecks: Check[] = [
  {
    title: 'GET /plants?limit=1 gets status 200',
    run: async (client) => {
      const response = await client.send({ method: 'GET', path: '/plants?limit=1' });
      if (response.status !== 200) throw new Error(`${JSON.stringify(response)}; the status must be 200`);
    },
  },
  errorCheck('GET /plants?limit=0', () => ({ method: 'GET', path: '/plants?limit=0' }), 400, 'limit'),
];
