// An HTTPS receiver that accepts everything after the milliseconds in the path, and sends its port.
const { createServer } = require('node:https');

const server = createServer(JSON.parse(process.env.RECEIVER_CERTIFICATE), (request, response) => {
  const respond = () => response.writeHead(204).end();
  const after = Number(request.url.slice(1));
  request.resume().on('end', () => (after > 0 ? setTimeout(respond, after) : respond()));
});
server.listen(0, '127.0.0.1', 4_096, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
