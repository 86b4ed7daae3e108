#pragma once
void fill(int* x, int n);  // parts_fill.cu
