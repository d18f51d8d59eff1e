// An HTTPS receiver that accepts everything: 204 after the milliseconds that the URL asks for. It sends its port.
const { createServer } = require('node:https');

const server = createServer(JSON.parse(process.env.RECEIVER_CERTIFICATE), (request, response) => {
  const after = Number(new URL(request.url, 'http://receiver').searchParams.get('after'));
  request.resume();
  request.on('end', () => {
    const respond = () => response.writeHead(204).end();
    if (after > 0) setTimeout(respond, after);
    else respond();
  });
});
server.listen(0, '127.0.0.1', 4_096, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
