/*
 * A receiver that takes everything: 204, at once or after the milliseconds that the URL asks for. It speaks HTTPS when the
 * environment variable RECEIVER_CERTIFICATE has a key and a certificate.
 */
const { RECEIVER_CERTIFICATE } = process.env;

const counts = { requests: 0, handshakes: 0 };
const take = (request, response) => {
  const after = Number(new URL(request.url, 'http://receiver').searchParams.get('after') ?? 0);
  request.resume();
  request.on('end', () => {
    const answer = () => {
      counts.requests += 1;
      response.writeHead(204).end();
    };
    if (after > 0) setTimeout(answer, after);
    else answer();
  });
};
const server = RECEIVER_CERTIFICATE
  ? require('node:https').createServer(JSON.parse(RECEIVER_CERTIFICATE), take)
  : require('node:http').createServer(take);
server.on('secureConnection', () => {
  counts.handshakes += 1;
});
const listening = new Promise((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
process.on('disconnect', () => process.exit());
process.on('message', async (question) => {
  await listening;
  process.send(question === 'port' ? server.address().port : counts[question]);
});
