/* A receiver that takes everything: 204, at once or after the milliseconds that the URL asks for. */
const { createServer } = require('node:http');

let count = 0;
const server = createServer((request, response) => {
  const after = Number(new URL(request.url, 'http://receiver').searchParams.get('after') ?? 0);
  request.resume();
  request.on('end', () => {
    const answer = () => {
      count += 1;
      response.writeHead(204).end();
    };
    if (after > 0) setTimeout(answer, after);
    else answer();
  });
});
const listening = new Promise((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
process.on('disconnect', () => process.exit());
process.on('message', async (question) => {
  await listening;
  process.send(question === 'port' ? server.address().port : count);
});
