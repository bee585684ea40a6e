const numbers = [];
for (let i = 1; i <= Number(COUNT); i++) {
  numbers.push(i * i);
}
output.made = numbers;
output.parsed = json('{"who": "Ada"}');
output.twice = (n) => n * 2;
console.log(`made ${numbers.length} numbers`);
