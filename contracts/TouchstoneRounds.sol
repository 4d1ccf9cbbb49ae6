// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Rounds of scores: each publisher gives one root to each of its rounds, once and for ever.
/// Hashes are those of docs/spec/ledger.md; node by node they are SHA-256, as everywhere else in the protocol.
contract TouchstoneRounds {
    struct Score {
        bytes32 validator;
        uint64 round;
        bytes box;
        uint64 score;
        bytes32 certificate;
    }

    /// 0 where nothing was published.
    mapping(address publisher => mapping(uint64 round => bytes32 root)) public rootOf;

    event RoundPublished(address indexed publisher, uint64 indexed round, bytes32 root);

    error NoRoot();
    error AnotherRoot(bytes32 published);

    /// The same root again changes nothing and is no mistake: whoever does not know whether it was sent sends it again.
    function publish(uint64 round, bytes32 root) external {
        if (root == 0) revert NoRoot();
        bytes32 before = rootOf[msg.sender][round];
        if (before == root) return;
        if (before != 0) revert AnotherRoot(before);
        rootOf[msg.sender][round] = root;
        emit RoundPublished(msg.sender, round, root);
    }

    /// Whether this publisher published this score: the path leads from it to the root of its round.
    function isPublished(address publisher, Score calldata score, uint256 place, bytes32[] calldata path)
        external
        view
        returns (bool)
    {
        if (score.box.length > 64 || path.length > 16 || place >> path.length != 0) return false;
        bytes32 root = rootOf[publisher][score.round];
        if (root == 0) return false;
        bytes32 node = leafOf(score);
        for (uint256 depth = 0; depth < path.length; depth++) {
            node = (place >> depth) & 1 == 0
                ? sha256(abi.encodePacked(hex"01", node, path[depth]))
                : sha256(abi.encodePacked(hex"01", path[depth], node));
        }
        return node == root;
    }

    function leafOf(Score calldata score) private pure returns (bytes32) {
        return sha256(
            abi.encodePacked(
                hex"00",
                "touchstone/score/1",
                score.validator,
                score.round,
                uint8(score.box.length),
                score.box,
                score.score,
                score.certificate
            )
        );
    }
}
