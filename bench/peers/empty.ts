/* Measures the cost of the runtime alone. */
export const handler = async () => ({ statusCode: 200, headers: {}, body: '{}' });
