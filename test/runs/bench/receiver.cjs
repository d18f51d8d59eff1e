// An HTTPS receiver that accepts everything, and sends its port.
const { createServer } = require('node:https');

const server = createServer(JSON.parse(process.env.RECEIVER_CERTIFICATE), (request, response) => {
  request.resume().on('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1', 4_096, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
