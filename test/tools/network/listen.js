// Accepts connections on the ports of the command line, on all addresses of its network namespace.
const { createServer } = require('node:net');

const ports = process.argv.slice(2).map(Number);
let open = ports.length;
for (const port of ports) {
  createServer((socket) => socket.end()).listen(port, () => {
    open -= 1;
    if (open === 0) console.log('listening');
  });
}
