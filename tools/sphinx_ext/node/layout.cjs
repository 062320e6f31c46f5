// Lays out a directed graph with dagre: reads {"nodes": {name: {width, height}}, "edges": [{from, to,
// width, height}]} and writes it with x and y of every middle, the points of every edge, and the
// width and height of the whole.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { runInThisContext } = require("node:vm");

const file = join(__dirname, "../../../_build/vendor/node/dagre/dagre.min.js");
const dagre = runInThisContext(`${readFileSync(file, "utf8")};dagre`);

const { nodes, edges } = JSON.parse(readFileSync(0, "utf8"));
const graph = new dagre.Graph({ multigraph: true });
graph.setGraph({ rankdir: "TB", nodesep: 16, ranksep: 26, edgesep: 12, marginx: 2, marginy: 2 });
for (const [name, size] of Object.entries(nodes)) graph.setNode(name, size);
edges.forEach((edge, i) => graph.setEdge(edge.from, edge.to, { ...edge, labelpos: "c" }, String(i)));
dagre.layout(graph);

const { width, height } = graph.graph();
process.stdout.write(
  JSON.stringify({
    width,
    height,
    nodes: Object.fromEntries(graph.nodes().map((name) => [name, graph.node(name)])),
    edges: edges.map((edge, i) => graph.edge(edge.from, edge.to, String(i))),
  }),
);
