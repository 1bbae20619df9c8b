/* The runtime's own cost: no imports, no work. */
export const handler = async () => ({ statusCode: 200, headers: {}, body: '{}' });
